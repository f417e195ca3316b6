import failing from 'phaseline/examples/manifests/failing.yaml?raw'
import nested from 'phaseline/examples/manifests/nested.yaml?raw'
import slow from 'phaseline/examples/manifests/slow.yaml?raw'
import webshop from 'phaseline/examples/webshop/webshop.yaml?raw'
import type { TextExample } from '../../../pages/create/form-example.ts'

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
