// Fluxx on Azure Container Apps: three APIs and a worker, each with an identity of its own and the
// least rights that its role needs; Service Bus, Blob Storage (HNS) and Key Vault; workers scaled by KEDA.
//
//   az deployment group create -g <group> -f deploy/azure/main.bicep -p image=… databaseHost=… databaseName=…
//
// Not run where it was written: neither Azure nor the Bicep compiler can be reached from there. Checked
// there: it parses by the Bicep grammar, modules are given the parameters they name, and the settings,
// topics and columns named here exist. Before the first use: `az bicep build` and `az deployment group what-if`.
//
// Not made here: the database (docs/operations.md: create it, migrate it, and give each identity its
// role there), the image's registry, a virtual network, alerts.

targetScope = 'resourceGroup'

@description('Short name that all resources begin with: lower-case letters and digits.')
@minLength(3)
@maxLength(11)
param name string = 'fluxx'

param location string = resourceGroup().location

@description('The image, e.g. registry.azurecr.io/fluxx@sha256:… (a digest, so that replicas never differ).')
param image string

@description('Name of the Azure Container Registry that holds the image, in this resource group.')
param registryName string

@description('Host name of the Azure SQL server, e.g. example.database.windows.net.')
param databaseHost string

param databaseName string = 'fluxx'

@description('Keys of the HTTP API (setting API_KEYS).')
@secure()
param apiKeys string

@description('For KEDA only: a login that may do nothing but SELECT on [extractor].[Job], as a Go connection string.')
@secure()
param scalerConnectionString string

@description('Private networks in which extractors may be called (setting EGRESS_ALLOWED_NETWORKS).')
param egressAllowedNetworks string = ''

@minValue(1)
param maxWorkers int = 10

var topicAcceptedFile = 'accepted-file'
var topicJobStatus = 'job-status'
var acceptedFileSubscription = 'fluxx-extraction'
var container = 'fluxx'
var roles = ['registration', 'files', 'jobs', 'worker']

resource identities 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = [
  for role in roles: {
    name: '${name}-${role}'
    location: location
  }
]

// KEDA reads how many messages wait, which Service Bus gives to owners only. The worker isn't one.
resource scaler 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: '${name}-scaler'
  location: location
}

module messages 'messages.bicep' = {
  name: 'messages'
  params: {
    name: name
    location: location
    topicAcceptedFile: topicAcceptedFile
    topicJobStatus: topicJobStatus
    acceptedFileSubscription: acceptedFileSubscription
    jobStatusSubscription: 'fluxx-events'
    filesPrincipalId: identities[1].properties.principalId
    workerPrincipalId: identities[3].properties.principalId
    scalerPrincipalId: scaler.properties.principalId
  }
}

module storage 'storage.bicep' = {
  name: 'storage'
  params: {
    name: name
    location: location
    container: container
    readerPrincipalIds: [identities[2].properties.principalId]
    writerPrincipalIds: [identities[1].properties.principalId, identities[3].properties.principalId]
    signerPrincipalIds: [identities[3].properties.principalId]
  }
}

module vault 'vault.bicep' = {
  name: 'vault'
  params: {
    name: name
    location: location
    readerPrincipalIds: [identities[3].properties.principalId]
    writerPrincipalIds: [identities[0].properties.principalId]
  }
}

module pulling 'registry.bicep' = {
  name: 'registry'
  params: {
    registryName: registryName
    principalIds: [for (role, index) in roles: identities[index].properties.principalId]
  }
}

module apps 'apps.bicep' = {
  name: 'apps'
  dependsOn: [pulling]
  params: {
    name: name
    location: location
    image: image
    registryServer: pulling.outputs.server
    apis: [
      for (role, index) in ['registration', 'files', 'jobs']: {
        role: role
        identityId: identities[index].id
        clientId: identities[index].properties.clientId
      }
    ]
    workerIdentityId: identities[3].id
    workerClientId: identities[3].properties.clientId
    scalerIdentityId: scaler.id
    databaseHost: databaseHost
    databaseName: databaseName
    apiKeys: apiKeys
    scalerConnectionString: scalerConnectionString
    serviceBusNamespace: messages.outputs.namespace
    topicAcceptedFile: topicAcceptedFile
    topicJobStatus: topicJobStatus
    acceptedFileSubscription: acceptedFileSubscription
    storageAccountUrl: storage.outputs.accountUrl
    storageContainer: container
    keyVaultUrl: vault.outputs.url
    egressAllowedNetworks: egressAllowedNetworks
    maxWorkers: maxWorkers
  }
}
