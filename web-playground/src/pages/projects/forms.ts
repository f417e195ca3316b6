import type { CreateForm } from '../../families/family.ts'
import { PROJECTS } from './examples.ts'
import { ProjectForm } from './project-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'project',
    label: 'Project',
    about: 'What others are in: the worker that its events start, what it listens to, and how much runs at once.',
    examples: PROJECTS,
    component: ProjectForm,
  },
]
