import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
  {
    does: 'create',
    title: 'A cloudlet',
    operation: `# It waits for its CRM, which connects with connectCrm.
mutation CreateCloudlet {
  createCloudlet(input: { name: "north" }) {
    __typename
    ... on Cloudlet { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'create',
    title: 'A cluster on it',
    needs: 'CLOUDLET',
    operation: `# The cloudlet must be READY.
mutation CreateCluster {
  createClusterInst(input: {
    cloudletId: "ID"
    name: "cluster-1"
    spec: { size: 3 }
  }) {
    __typename
    ... on ClusterInst { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Cloudlets with what is on them',
    operation: `query Cloudlets {
  objects(filter: { kinds: [CLOUDLET] }, first: 20) {
    edges {
      node {
        id name phase
        ... on Cloudlet {
          version upgradePhase epoch resyncedAt drifted
          agents { role instance version leaseUntil }
          orphans(first: 5) { kind path phase }
        }
        children { edges { node {
          name phase
          children { edges { node { name phase } } }
        } } }
      }
    }
  }
}
`,
  },
  {
    does: 'watch',
    title: 'What is asked for, and done',
    operation: `subscription Edge {
  phaseChanges(filter: { kinds: [CLOUDLET, CLUSTER_INST, APP_INST] }) {
    at kind name machine from to by reason
  }
}
`,
  },
  {
    does: 'act',
    title: 'Upgrade a cloudlet',
    needs: 'CLOUDLET',
    operation: `mutation Upgrade {
  upgradeCloudlet(input: { id: "ID", version: "2" }) {
    __typename
    ... on Cloudlet { upgradePhase wantedVersion }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'act',
    title: 'Delete a cluster with its apps',
    needs: 'CLUSTER_INST',
    operation: `mutation DeleteCluster {
  deleteClusterInst(input: { id: "ID", cascade: true }) {
    __typename
    ... on ClusterInst { id phase }
    ... on Error { code message }
  }
}
`,
  },
]
