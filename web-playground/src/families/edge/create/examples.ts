import app from 'phaseline/examples/manifests/app.yaml?raw'
import cluster from 'phaseline/examples/manifests/cluster.yaml?raw'
import type { Pair } from '../../../model/pairs.ts'
import type { FormExample } from '../../../pages/create/form-example.ts'

interface NamedExample extends FormExample {
  readonly values: { readonly name: string; readonly labels: readonly Pair[] }
  readonly text?: string
}

export const CLOUDLETS: readonly NamedExample[] = [
  {
    name: 'north',
    label: 'A site',
    about: 'An edge site: it is OFFLINE until its CRM connects.',
    needs: 'Needs a CRM before anything can be created on it: see below.',
    values: { name: 'north', labels: [{ key: 'region', value: 'north' }] },
  },
]
export const CLUSTERS: readonly NamedExample[] = [
  {
    name: 'small',
    label: 'A small cluster',
    about: 'Three nodes with a network of their own.',
    needs: 'Needs a cloudlet that is READY; what a spec may hold is the business of its CRM.',
    values: { name: 'c1', labels: [] },
    text: cluster,
  },
]
export const APPS: readonly NamedExample[] = [
  {
    name: 'web',
    label: 'A web app',
    about: 'Two replicas of an image.',
    needs: 'Needs a cluster that is READY; what a spec may hold is the business of its CRM.',
    values: { name: 'web', labels: [] },
    text: app,
  },
]
