import type { Example } from '../../model/examples.ts'

export const examples: readonly Example[] = [
  {
    does: 'create',
    title: 'A rule that tells what fails',
    operation: `# Whatever has failed in the project default is posted to this URL.
mutation CreateNotificationRule {
  createNotificationRule(input: {
    name: "failures"
    changes: { classes: [FAILED], rootsOnly: true }
    receiver: { webhook: { url: "https://example.org/hook" } }
  }) {
    __typename
    ... on NotificationRule { id enabled receiver { channel url } }
    ... on Error { code message }
  }
}
`,
  },
  {
    does: 'look',
    title: 'Rules with their last messages',
    operation: `query NotificationRules {
  notificationRules(first: 10) {
    edges {
      node {
        id name enabled mayRead pendingCount
        changes { kinds to classes rootsOnly }
        receiver { channel url to }
        notifications(first: 5) {
          edges { node { text state attempts due problem } }
        }
      }
    }
  }
}
`,
  },
]
