import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
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
