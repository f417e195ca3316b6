import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'notification',
      group: 'Around',
      description: 'rules that tell phase changes to webhooks, chats and people',
      load: async () => (await import('./notification.ts')).addNotification,
    },
  ],
  kinds: async () => [(await import('./apply.ts')).rules],
}
