import type { CreateForm } from '../../family.ts'
import { INSTALLATIONS } from './examples.ts'
import { InstallationForm } from './installation-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'installation',
    label: 'Installation',
    about: 'A tree of deploy items and nested installations, deployed in the order of what they need.',
    examples: INSTALLATIONS,
    component: InstallationForm,
  },
]
