import type { Example } from './examples.ts'

export const PIPELINES: readonly Example[] = [
  {
    does: 'create',
    title: 'A project whose workers say hello',
    operation: `mutation CreateProject {
  createProject(input: {
    name: "ci"
    limits: { maxWorkers: 2 }
    workerTemplate: {
      runtime: "process"
      command: ["echo", "hello"]
    }
  }) {
    __typename
    ... on Project { id name }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'create',
    title: 'An event for it',
    operation: `mutation CreateEvent {
  createEvent(input: {
    project: "ci"
    source: "example.org"
    type: "push"
    payload: "{}"
  }) {
    __typename
    ... on CreatedEvents { events { id phase } }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Events with their workers',
    operation: `query Events {
  objects(
    filter: { kinds: [EVENT] }
    orderBy: { field: CREATED_AT, direction: DESC }
    first: 10
  ) {
    edges {
      node {
        id phase
        blockedBy { reason message }
        ... on Event {
          source type
          worker { id phase exitCode attempt }
        }
      }
    }
  }
}
`,
  },
  {
    does: 'watch',
    title: "A worker's output",
    needs: 'WORKER',
    operation: `subscription Output {
  logs(objectId: "ID") { at stream text }
}
`,
  },
  {
    does: 'act',
    title: 'Cancel, or run again',
    needs: 'EVENT',
    operation: `mutation CancelEvent {
  cancelEvent(input: { id: "ID" }) {
    __typename
    ... on Event { id phase }
    ... on Error { code message }
  }
}

# With the worker as it was.
mutation RetryEvent {
  retryEvent(input: { id: "ID" }) {
    __typename
    ... on Event { id phase }
    ... on Error { code message }
  }
}
`,
  },
]

export const OPERATIONS: readonly Example[] = [
  {
    does: 'create',
    title: 'A task of two gadgets',
    operation: `# Gadgets are programs in the folder PHASELINE_GADGETS.
mutation CreateTask {
  createTask(input: {
    name: "copy"
    jobs: [
      { name: "dump", gadget: "postgres-copy", args: ["shop"] }
      { name: "touch", gadget: "touch-file", dependsOn: ["dump"] }
    ]
  }) {
    __typename
    ... on Task { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Tasks with their journals',
    operation: `query Tasks {
  objects(
    filter: { kinds: [TASK] }
    orderBy: { field: CREATED_AT, direction: DESC }
    first: 10
  ) {
    edges {
      node {
        id name phase
        ... on Task {
          jobs { edges { node {
            name phase
            ... on GadgetJob { gadget activity journal { at entry } }
          } } }
        }
      }
    }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Who holds what, who waits',
    operation: `query Locks {
  locks {
    edges {
      node {
        resource mode held position
        declaredAt grantedAt
        object { name phase root { name } }
      }
    }
  }
}
`,
  },
  {
    does: 'watch',
    title: 'Jobs as they move on',
    operation: `subscription Jobs {
  phaseChanges(filter: { kinds: [TASK, GADGET_JOB] }) {
    at name from to by reason
  }
}
`,
  },
  {
    does: 'act',
    title: 'Cancel a task',
    needs: 'TASK',
    operation: `mutation CancelTask {
  cancelTask(input: { id: "ID" }) {
    __typename
    ... on Task { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'act',
    title: 'What could not be undone',
    needs: 'GADGET_JOB',
    operation: `# Of a job in UNDO_FAILED: RETRY, or GIVE_UP.
mutation ResolveUndo {
  resolveUndo(input: { id: "ID", decision: RETRY }) {
    __typename
    ... on GadgetJob { id phase }
    ... on Error { code message }
  }
}
`,
  },
]

export const EDGE: readonly Example[] = [
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
