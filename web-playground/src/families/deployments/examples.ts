import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
  {
    does: 'create',
    title: 'An installation of two items',
    operation: `mutation CreateInstallation {
  createInstallation(input: {
    name: "hello"
    spec: {
      deployItems: [
        {
          name: "first"
          type: "mock"
          config: { delayMs: 2000 }
        }
        {
          name: "second"
          type: "mock"
          dependsOn: ["first"]
          config: { delayMs: 2000 }
        }
      ]
    }
  }) {
    __typename
    ... on Installation { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Installations with their items',
    operation: `query Installations {
  objects(filter: { kinds: [INSTALLATION], rootsOnly: true }, first: 10) {
    edges {
      node {
        id name phase
        ... on Installation {
          exports
          execution {
            classes { succeeded failed unfinished triggerable waiting }
            children { edges { node { name phase progress { step } } } }
          }
        }
      }
    }
  }
}
`,
  },
  {
    does: 'look',
    title: 'What a creation would do',
    operation: `query Plan {
  planInstallation(input: { create: {
    name: "hello"
    spec: { deployItems: [{ name: "first", type: "mock", config: {} }] }
  } }) {
    __typename
    ... on InstallationPlan { steps { order action kind path reason } }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'watch',
    title: 'Progress and errors of one tree',
    needs: 'INSTALLATION',
    operation: `subscription Updates {
  objectUpdates(rootId: "ID") {
    revision
    object {
      kind name phase
      progress { step value total }
      error { code message }
    }
  }
}
`,
  },
  {
    does: 'act',
    title: 'Reconcile once more',
    needs: 'INSTALLATION',
    operation: `mutation Reconcile {
  reconcileInstallation(input: { id: "ID", mode: FORCE }) {
    __typename
    ... on Installation { id phase }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'act',
    title: 'Cancel, or delete',
    needs: 'INSTALLATION',
    operation: `mutation Cancel {
  cancelInstallation(input: { id: "ID", reason: "tried out" }) {
    __typename
    ... on Installation { id phase }
    ... on Error { code message }
  }
}

# With everything in it, in reverse order.
mutation Delete {
  deleteInstallation(input: { id: "ID" }) {
    __typename
    ... on Installation { id phase }
    ... on Error { code message }
  }
}
`,
  },
]
