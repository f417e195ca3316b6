import type { CreateForm } from '../../family.ts'
import { TASKS } from './examples.ts'
import { TaskForm } from './task-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'task',
    label: 'Task',
    about: 'Jobs on machines that they lock, and undo when something breaks.',
    examples: TASKS,
    component: TaskForm,
  },
]
