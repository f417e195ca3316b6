import type { CreateForm } from '../../family.ts'
import { EventForm } from './event-form.tsx'
import { EVENTS, PROJECTS } from './examples.ts'
import { ProjectForm } from './project-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'event',
    label: 'Event',
    about: 'Something has happened: projects that want to know start their workers.',
    examples: EVENTS,
    component: EventForm,
  },
  {
    name: 'project',
    label: 'Project',
    about: 'What others are in: the worker that its events start, what it listens to, and how much runs at once.',
    examples: PROJECTS,
    component: ProjectForm,
  },
]
