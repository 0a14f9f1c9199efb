// The container apps: one for each API, one for the workers. Not run, see main.bicep.

param name string
param location string
param image string
param registryServer string

@description('One for each API: role (of `fluxx serve`), identityId, clientId.')
param apis array

param workerIdentityId string
param workerClientId string
param scalerIdentityId string
param databaseHost string
param databaseName string

@secure()
param apiKeys string

@secure()
param scalerConnectionString string

param serviceBusNamespace string
param topicAcceptedFile string
param topicJobStatus string
param acceptedFileSubscription string
param storageAccountUrl string
param storageContainer string
param keyVaultUrl string
param egressAllowedNetworks string
param maxWorkers int

var settings = [
  { name: 'SERVICE_BUS_NAMESPACE', value: serviceBusNamespace }
  { name: 'TOPIC_ACCEPTED_FILE', value: topicAcceptedFile }
  { name: 'TOPIC_JOB_STATUS', value: topicJobStatus }
  { name: 'ACCEPTED_FILE_SUBSCRIPTION', value: acceptedFileSubscription }
  { name: 'STORAGE_ACCOUNT_URL', value: storageAccountUrl }
  { name: 'STORAGE_CONTAINER', value: storageContainer }
  { name: 'KEY_VAULT_URL', value: keyVaultUrl }
  { name: 'EGRESS_ALLOWED_NETWORKS', value: egressAllowedNetworks }
  { name: 'LOG_FORMAT', value: 'json' }
]
var databaseTail = '@${databaseHost}:1433/${databaseName}?Authentication=ActiveDirectoryMsi&Encrypt=yes'

resource logs 'Microsoft.OperationalInsights/workspaces@2023-09-01' = {
  name: '${name}-logs'
  location: location
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: 30
  }
}

resource home 'Microsoft.App/managedEnvironments@2024-03-01' = {
  name: name
  location: location
  properties: {
    appLogsConfiguration: {
      destination: 'log-analytics'
      logAnalyticsConfiguration: {
        customerId: logs.properties.customerId
        sharedKey: logs.listKeys().primarySharedKey
      }
    }
  }
}

resource api 'Microsoft.App/containerApps@2024-03-01' = [
  for each in apis: {
    name: '${name}-${each.role}'
    location: location
    identity: {
      type: 'UserAssigned'
      userAssignedIdentities: {
        '${each.identityId}': {}
      }
    }
    properties: {
      managedEnvironmentId: home.id
      configuration: {
        ingress: {
          external: false
          targetPort: 8080
          transport: 'http'
          allowInsecure: false
        }
        registries: [{ server: registryServer, identity: each.identityId }]
        secrets: [{ name: 'api-keys', value: apiKeys }]
      }
      template: {
        containers: [
          {
            name: each.role
            image: image
            args: ['serve', each.role, '--host', '0.0.0.0', '--port', '8080']
            env: concat(settings, [
              { name: 'AZURE_CLIENT_ID', value: each.clientId }
              { name: 'DATABASE_URL', value: 'mssql://${each.clientId}${databaseTail}' }
              { name: 'API_KEYS', secretRef: 'api-keys' }
            ])
            resources: {
              cpu: json('0.5')
              memory: '1Gi'
            }
            // Not /readyz: a part that is away would take all replicas away, and with them the answers that say so.
            probes: [
              { type: 'Startup', httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 2, failureThreshold: 30 }
              { type: 'Liveness', httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 }
              { type: 'Readiness', httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 }
            ]
          }
        ]
        scale: {
          minReplicas: 1
          maxReplicas: 5
          rules: [{ name: 'requests', http: { metadata: { concurrentRequests: '50' } } }]
        }
      }
    }
  }
]

resource worker 'Microsoft.App/containerApps@2024-03-01' = {
  name: '${name}-worker'
  location: location
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${workerIdentityId}': {}
      '${scalerIdentityId}': {}
    }
  }
  properties: {
    managedEnvironmentId: home.id
    configuration: {
      registries: [{ server: registryServer, identity: workerIdentityId }]
      secrets: [{ name: 'scaler-connection-string', value: scalerConnectionString }]
    }
    template: {
      // Draining takes seconds; a job that isn't given back in time falls due when its lease ends.
      terminationGracePeriodSeconds: 30
      containers: [
        {
          name: 'worker'
          image: image
          args: ['worker']
          env: concat(settings, [
            { name: 'AZURE_CLIENT_ID', value: workerClientId }
            { name: 'DATABASE_URL', value: 'mssql://${workerClientId}${databaseTail}' }
          ])
          resources: {
            cpu: json('1')
            memory: '2Gi'
          }
        }
      ]
      scale: {
        // Never none: someone must relay the events and watch the deadlines.
        minReplicas: 1
        maxReplicas: maxWorkers
        rules: [
          {
            name: 'accepted-files'
            custom: {
              type: 'azure-servicebus'
              identity: scalerIdentityId
              metadata: {
                namespace: split(serviceBusNamespace, '.')[0]
                topicName: topicAcceptedFile
                subscriptionName: acceptedFileSubscription
                messageCount: '100'
              }
            }
          }
          {
            // Jobs that are due and that nobody has claimed: a claim pushes DueAt ahead. Reads IX_Job_DueAt only.
            name: 'due-jobs'
            custom: {
              type: 'mssql'
              metadata: {
                query: 'SELECT COUNT(*) FROM [extractor].[Job] WHERE [DueAt] <= SYSDATETIMEOFFSET()'
                targetValue: '200'
              }
              auth: [{ secretRef: 'scaler-connection-string', triggerParameter: 'connectionString' }]
            }
          }
        ]
      }
    }
  }
}
