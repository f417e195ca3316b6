/** What GraphiQL starts with, a tab each: look, change, watch. Lines fit into half of a small screen. */
export const EXAMPLES: readonly string[] = [
  `# What there is, and what it waits for.
# Run it with the button, or Ctrl-Enter.
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
`,
  `# Two items that do nothing, in their
# order: watch them in the next tab.
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
`,
  `# Every phase change since the first,
# then each one as it happens. Go on
# after any sequence: nothing is missed.
subscription PhaseChanges {
  phaseChanges(after: 0) {
    sequence kind name from to
    actor by reason
  }
}
`,
]
