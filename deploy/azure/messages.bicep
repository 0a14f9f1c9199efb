// The two topics, and who may do what on each. Not run, see main.bicep.

param name string
param location string
param topicAcceptedFile string
param topicJobStatus string
param acceptedFileSubscription string
param jobStatusSubscription string
param filesPrincipalId string
param workerPrincipalId string
param scalerPrincipalId string

var dataOwner = '090c5cfd-751d-490a-894a-3ce6f1109419'
var dataSender = '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
var dataReceiver = '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'

resource namespace 'Microsoft.ServiceBus/namespaces@2022-10-01-preview' = {
  name: '${name}-${uniqueString(resourceGroup().id)}'
  location: location
  sku: {
    name: 'Standard'
    tier: 'Standard'
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
  }
}

resource acceptedFile 'Microsoft.ServiceBus/namespaces/topics@2022-10-01-preview' = {
  parent: namespace
  name: topicAcceptedFile
  properties: {}
}

// A message is completed as soon as its jobs are committed: the lock is short. While the registry is
// down it is abandoned with growing pauses, so many deliveries are no sign of poison.
resource extraction 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2022-10-01-preview' = {
  parent: acceptedFile
  name: acceptedFileSubscription
  properties: {
    lockDuration: 'PT1M'
    maxDeliveryCount: 2000
    deadLetteringOnMessageExpiration: true
  }
}

// The relay publishes an event again where it isn't sure that it arrived, under the same message id.
resource jobStatus 'Microsoft.ServiceBus/namespaces/topics@2022-10-01-preview' = {
  parent: namespace
  name: topicJobStatus
  properties: {
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT10M'
    supportOrdering: true
  }
}

// What `fluxx events` browses; nobody takes messages from it, so they leave by their age.
resource events 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2022-10-01-preview' = {
  parent: jobStatus
  name: jobStatusSubscription
  properties: {
    lockDuration: 'PT1M'
    defaultMessageTimeToLive: 'P7D'
  }
}

resource filesSend 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(acceptedFile.id, filesPrincipalId, dataSender)
  scope: acceptedFile
  properties: {
    principalId: filesPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataSender)
  }
}

resource workerReceives 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(extraction.id, workerPrincipalId, dataReceiver)
  scope: extraction
  properties: {
    principalId: workerPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataReceiver)
  }
}

resource workerSends 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(jobStatus.id, workerPrincipalId, dataSender)
  scope: jobStatus
  properties: {
    principalId: workerPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataSender)
  }
}

resource scalerLooks 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(extraction.id, scalerPrincipalId, dataOwner)
  scope: extraction
  properties: {
    principalId: scalerPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', dataOwner)
  }
}

output namespace string = '${namespace.name}.servicebus.windows.net'
