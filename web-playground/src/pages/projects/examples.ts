import hello from 'phaseline/examples/manifests/hello-project.yaml?raw'
import nightly from 'phaseline/examples/manifests/nightly-project.yaml?raw'
import type { TextExample } from '../create/form-example.ts'

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
