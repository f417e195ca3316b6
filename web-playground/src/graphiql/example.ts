/** The first operations in GraphiQL: a query, a mutation, a subscription. Lines fit into half of a small screen. */
export const EXAMPLE = `# The button asks which one to run;
# Ctrl-Enter runs the one at the cursor.

# What there is, and what it waits for.
query Objects {
  viewer { name role }
  objects(filter: { rootsOnly: true }) {
    edges {
      node {
        id kind name phase finished
        blockedBy { reason message }
      }
    }
  }
}

# Two items that only take their time.
mutation CreateInstallation {
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

# Each phase change as it happens, the newest
# on top. Add (after: 0) for all of them.
subscription PhaseChanges {
  phaseChanges {
    sequence kind name from to
    actor by reason
  }
}
`
