import type { Creatable } from '../../ui/links.ts'

/** What there is a form for, and what it is. */
export const KINDS: readonly { readonly what: Creatable; readonly label: string; readonly about: string }[] = [
  {
    what: 'installation',
    label: 'Installation',
    about: 'A tree of deploy items and nested installations, deployed in the order of what they need.',
  },
  { what: 'event', label: 'Event', about: 'Something has happened: projects that want to know start their workers.' },
  { what: 'task', label: 'Task', about: 'Jobs on machines that they lock, and put right when something breaks.' },
  {
    what: 'project',
    label: 'Project',
    about: 'What others are in: the worker that its events start, what it listens to, and how much runs at once.',
  },
  { what: 'cloudlet', label: 'Cloudlet', about: 'An edge site to which a CRM connects.' },
  { what: 'cluster', label: 'Cluster', about: 'A cluster on a cloudlet.' },
  { what: 'app', label: 'App', about: 'An app in a cluster.' },
]
