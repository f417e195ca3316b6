import type { CreateForm } from '../../families/family.ts'
import { PROJECTS } from './examples.ts'
import { ProjectForm } from './project-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'project',
    label: 'Project',
    about: 'A project has others in it: the worker that its events start, its subscriptions, and its limits.',
    examples: PROJECTS,
    component: ProjectForm,
  },
]
