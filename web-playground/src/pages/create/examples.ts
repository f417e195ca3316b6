import app from 'phaseline/examples/manifests/app.yaml?raw'
import assetsTask from 'phaseline/examples/manifests/assets-task.yaml?raw'
import cluster from 'phaseline/examples/manifests/cluster.yaml?raw'
import failing from 'phaseline/examples/manifests/failing.yaml?raw'
import filesTask from 'phaseline/examples/manifests/files-task.yaml?raw'
import hello from 'phaseline/examples/manifests/hello-project.yaml?raw'
import nested from 'phaseline/examples/manifests/nested.yaml?raw'
import nightly from 'phaseline/examples/manifests/nightly-project.yaml?raw'
import slow from 'phaseline/examples/manifests/slow.yaml?raw'
import webshop from 'phaseline/examples/webshop/webshop.yaml?raw'
import type { EventValues } from '../../model/event-values.ts'
import type { Pair } from '../../model/pairs.ts'
import type { Creatable } from '../../ui/links.ts'

/** Forms that are filled in one click. */

interface Example {
  readonly name: string
  readonly label: string
  /** What it shows. */
  readonly about: string
  /** What has to be there so that it comes to its end. */
  readonly needs: string
}
export interface TextExample extends Example {
  readonly text: string
}
export interface EventExample extends Example {
  readonly values: EventValues
}
export interface NamedValues {
  readonly name: string
  readonly labels: readonly Pair[]
}
export interface NamedExample extends Example {
  readonly values: NamedValues
  readonly text?: string
}

export const INSTALLATIONS: readonly TextExample[] = [
  {
    name: 'nested',
    label: 'Nested',
    about: 'Three nested installations that wait for each other by what they import and export.',
    needs: 'Needs nothing: its items are mocks.',
    text: nested,
  },
  {
    name: 'webshop',
    label: 'Web shop',
    about: 'A dozen little services of a real web shop, on the machine of the server.',
    needs: 'Needs the gadgets of examples/webshop/gadgets, which npm start has by itself.',
    text: webshop,
  },
  {
    name: 'failing',
    label: 'Failing',
    about: 'The second of three items fails: the tree says which, and why.',
    needs: 'Needs nothing: its items are mocks.',
    text: failing,
  },
  {
    name: 'slow',
    label: 'Slow',
    about: 'Two minutes of work with progress: time to watch it, and to cancel it.',
    needs: 'Needs nothing: its items are mocks.',
    text: slow,
  },
]

export const TASKS: readonly TextExample[] = [
  {
    name: 'assets',
    label: 'Build assets',
    about: 'Builds the page of the web shop in two colours, one after the other.',
    needs: 'Needs the gadgets of examples/webshop/gadgets, which npm start has by itself.',
    text: assetsTask,
  },
  {
    name: 'files',
    label: 'Touch files',
    about: 'A file in /tmp of the server’s machine, and then two more side by side.',
    needs: 'Needs the gadget touch-file: start the server with PHASELINE_GADGETS=examples/gadgets.',
    text: filesTask,
  },
]

export const PROJECTS: readonly TextExample[] = [
  {
    name: 'hello',
    label: 'Says hello',
    about: 'Each push starts a worker that says so; of those that wait only the newest is kept.',
    needs: 'Needs the process runtime, which npm start has by itself.',
    text: hello,
  },
  {
    name: 'nightly',
    label: 'Makes tasks',
    about: 'Each night an event makes a task instead of starting a worker.',
    needs: 'Needs the gadget touch-file: start the server with PHASELINE_GADGETS=examples/gadgets.',
    text: nightly,
  },
]

export const EVENTS: readonly EventExample[] = [
  {
    name: 'push',
    label: 'A push',
    about: 'Code was pushed: each project that has subscribed to it starts its worker.',
    needs:
      'Needs a project that has subscribed to it, such as ci: npm run phaseline -- project apply -f examples/ci/project.yaml.',
    values: {
      project: '',
      source: 'example.com/word-count',
      type: 'push',
      qualifiers: [],
      labels: [{ key: 'branch', value: 'main' }],
      payload: '{ "after": "0f31c2a" }',
    },
  },
]

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

export const EXAMPLES: Readonly<Record<Creatable, readonly Example[]>> = {
  installation: INSTALLATIONS,
  event: EVENTS,
  task: TASKS,
  project: PROJECTS,
  cloudlet: CLOUDLETS,
  cluster: CLUSTERS,
  app: APPS,
}
