// A storage account with hierarchical namespace (story 5), one container, and who may use it.
// Not run, see main.bicep.

param name string
param location string
param container string
param readerPrincipalIds array
param writerPrincipalIds array

@description('Who signs file URLs: they may ask for user delegation keys of the account.')
param signerPrincipalIds array

var blobDataReader = '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
var blobDelegator = 'db58b8e5-c6ad-4a2a-8342-4190687cbf4a'

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' = {
  name: '${name}${uniqueString(resourceGroup().id)}'
  location: location
  kind: 'StorageV2'
  sku: {
    name: 'Standard_ZRS'
  }
  properties: {
    isHnsEnabled: true
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' = {
  parent: account
  name: 'default'
  properties: {}
}

resource files 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = {
  parent: blobs
  name: container
  properties: {
    publicAccess: 'None'
  }
}

resource reads 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principalId in readerPrincipalIds: {
    name: guid(files.id, principalId, blobDataReader)
    scope: files
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataReader)
    }
  }
]

resource writes 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principalId in writerPrincipalIds: {
    name: guid(files.id, principalId, blobDataContributor)
    scope: files
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    }
  }
]

// A delegation key carries no more rights than its owner has: it signs reads of the container only.
resource signs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principalId in signerPrincipalIds: {
    name: guid(account.id, principalId, blobDelegator)
    scope: account
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDelegator)
    }
  }
]

output accountUrl string = 'https://${account.name}.blob.${environment().suffixes.storage}'
