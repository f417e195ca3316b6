import type { FamilyCli } from '../../define-family.ts'

export const cli: FamilyCli = {
  commands: [
    {
      usage: 'schedule',
      group: 'Work',
      description: 'schedules: events, tasks and jobs that start by themselves',
      load: async () => (await import('./schedule.ts')).addSchedule,
    },
    {
      usage: 'bulk',
      group: 'Work',
      description: 'one verb for many objects, each of them asked once by the server',
      load: async () => (await import('./bulk.ts')).addBulk,
    },
    {
      usage: 'automation',
      group: 'Around',
      description: 'stop or release what happens by itself: schedules, hooks and notifications',
      load: async () => (await import('./automation.ts')).addAutomation,
    },
  ],
  standing: async () => (await import('./automation.ts')).holdsNow,
  askMany: async () => (await import('./ask-many.ts')).askMany,
  kinds: async () => [(await import('./apply.ts')).schedules],
  shows: {
    SCHEDULE: async () => (await import('./schedule.ts')).showSchedule,
    BULK_OPERATION: async () => (await import('./bulk.ts')).showBulk,
  },
}
