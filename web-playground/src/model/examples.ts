/** An operation to begin with. */
export interface Example {
  readonly does: 'look' | 'create' | 'watch' | 'act'
  readonly title: string
  /** The newest object of this kind gives its id to the operation, in the place of `"ID"`. */
  readonly needs?: string
  readonly operation: string
}

export const DOES: Readonly<Record<Example['does'], string>> = {
  look: 'Look',
  create: 'Create',
  watch: 'Watch',
  act: 'Act',
}

/** The operation with an existing id; unchanged when there is none. */
export const filledIn = ({ operation }: Example, id: string | null): string =>
  id === null ? operation : operation.replaceAll('"ID"', JSON.stringify(id))

/** Examples of all kinds. */
export const EVERYTHING: readonly Example[] = [
  {
    does: 'look',
    title: 'What runs, and what it waits for',
    operation: `query Unfinished {
  objects(filter: { finished: false, rootsOnly: true }) {
    totalCount
    edges {
      node {
        id kind name phase phaseSince
        blockedBy { reason message }
      }
    }
  }
}
`,
  },
  {
    does: 'look',
    title: 'What has failed, and why',
    operation: `query Failed {
  objects(
    filter: { phases: [FAILED, DELETE_FAILED, UNDO_FAILED] }
    orderBy: { field: CREATED_AT, direction: DESC }
    first: 20
  ) {
    edges {
      node {
        kind name
        root { name }
        error {
          code message
          causes(first: 3) { kind name code message }
        }
      }
    }
  }
}
`,
  },
  {
    does: 'watch',
    title: 'Every phase change from now on',
    operation: `# Add (after: 0) for all since the first.
subscription PhaseChanges {
  phaseChanges {
    sequence kind name from to
    actor by reason
  }
}
`,
  },
  {
    does: 'act',
    title: 'Errors, and how to read them',
    operation: `# Errors are data: each has a code and a message,
# some have more. This one creates nothing.
mutation Errors {
  createInstallation(input: {
    name: "Not a name"
    spec: { deployItems: [
      { name: "first", type: "mock", dependsOn: ["second"] }
    ] }
  }) {
    __typename
    ... on Installation { id phase }
    ... on Error { code message }
    ... on InvalidInputError { fields { path message } }
    ... on ConflictError { object { id kind phase } }
    ... on LimitError { limit }
  }
}
`,
  },
  {
    does: 'look',
    title: 'What I may do',
    operation: `query Viewer {
  viewer { name role actor projects }
  stateMachines {
    name kinds
    transitions { from actor to reason }
  }
}
`,
  },
]
