import type { CreateForm } from '../../family.ts'
import { EventForm } from './event-form.tsx'
import { EVENTS } from './examples.ts'

export const forms: readonly CreateForm[] = [
  {
    name: 'event',
    label: 'Event',
    about: 'Something has happened: projects that want to know start their workers.',
    examples: EVENTS,
    component: EventForm,
  },
]
