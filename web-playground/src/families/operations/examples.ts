import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
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
