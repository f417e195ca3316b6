import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
  {
    does: 'create',
    title: 'A schedule',
    operation: `# The installation need not exist yet: until then its firings are REFUSED.
mutation CreateSchedule {
  createSchedule(input: {
    name: "nightly"
    when: { cron: ["30 2 * * *"], timeZone: "Europe/Berlin" }
    run: { reconcileInstallation: { name: "shop", mode: IF_CHANGED } }
  }) {
    __typename
    ... on Schedule { id phase due nextTimes(first: 3) }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'create',
    title: 'A bulk operation',
    operation: `# Asks each event that has not ended, once; previewBulkOperation shows how many there are.
mutation CancelEventsOfTeam {
  createBulkOperation(input: {
    project: "default"
    name: "wrong-branch"
    verb: "cancel"
    filter: { kinds: [EVENT], labels: [{ key: "team", value: "shop" }] }
    note: "They are of the wrong branch."
  }) {
    __typename
    ... on BulkOperation { id phase counts { all waiting done refused } }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Schedules with their firings',
    operation: `query Schedules {
  objects(
    filter: { kinds: [SCHEDULE] }
    orderBy: { field: CREATED_AT, direction: DESC }
    first: 10
  ) {
    edges {
      node {
        id name phase
        ... on Schedule {
          due editor
          scheduleSpec { cron timeZone overlap run }
          firings(first: 5) {
            edges { node { due at outcome reason started { kind name phase } } }
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
    title: 'The next times of a line of cron',
    operation: `query NextTimes {
  nextTimes(when: { cron: ["30 2 * * 1-5"], timeZone: "Europe/Berlin" }, first: 5)
}
`,
  },
  {
    does: 'watch',
    title: 'Schedules as they fire',
    operation: `subscription Firings {
  phaseChanges(filter: { kinds: [SCHEDULE] }) {
    at name from to by message
  }
}
`,
  },
  {
    does: 'act',
    title: 'Fire a schedule',
    needs: 'SCHEDULE',
    operation: `mutation FireSchedule {
  fireSchedule(input: { id: "ID" }) {
    __typename
    ... on Schedule { id phase }
    ... on Error { code message }
  }
}
`,
  },
]
