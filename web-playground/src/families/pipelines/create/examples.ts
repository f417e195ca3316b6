import hello from 'phaseline/examples/manifests/hello-project.yaml?raw'
import nightly from 'phaseline/examples/manifests/nightly-project.yaml?raw'
import type { FormExample, TextExample } from '../../../pages/create/form-example.ts'
import type { EventValues } from '../model/event-values.ts'

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
    needs: 'Needs the gadget touch-file of examples/webshop/gadgets, which npm start has by itself.',
    text: nightly,
  },
]

export interface EventExample extends FormExample {
  readonly values: EventValues
}

export const EVENTS: readonly EventExample[] = [
  {
    name: 'push',
    label: 'A push',
    about: 'Code was pushed: each project that has subscribed to it starts its worker.',
    needs:
      'Needs a project that has subscribed to it, such as ci: phaseline project apply -f examples/ci/project.yaml.',
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
