import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
  {
    does: 'create',
    title: 'A limit of four at once, and one for each key',
    operation: `# Worker templates, jobs and deploy items of the project default ask for it.
mutation CreateLimit {
  createLimit(input: { name: "deploys", max: 4, maxPerKey: 1 }) {
    __typename
    ... on Limit { id max maxPerKey }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Limits with what holds them, and what waits',
    operation: `query Limits {
  limits(first: 10) {
    edges {
      node {
        id name max maxPerKey rate { count perMs } pause { by reason }
        overrides { key maxPerKey until }
        keys(first: 5) { edges { node { key runningCount waitingCount } } }
        holders(first: 5) { edges { node { key object { path phase } } } }
        queue(first: 5) { edges { node { key priority position object { path phase } } } }
      }
    }
  }
}
`,
  },
]
