import type { CreateForm } from '../../family.ts'
import { CloudletForm } from './cloudlet-form.tsx'
import { APPS, CLOUDLETS, CLUSTERS } from './examples.ts'
import { AppForm, ClusterForm } from './instance-form.tsx'

export const forms: readonly CreateForm[] = [
  {
    name: 'cloudlet',
    label: 'Cloudlet',
    about: 'An edge site to which a CRM connects.',
    examples: CLOUDLETS,
    component: CloudletForm,
  },
  {
    name: 'cluster',
    label: 'Cluster',
    about: 'A cluster on a cloudlet.',
    examples: CLUSTERS,
    component: ClusterForm,
  },
  { name: 'app', label: 'App', about: 'An app in a cluster.', examples: APPS, component: AppForm },
]
