import assetsTask from 'phaseline/examples/manifests/assets-task.yaml?raw'
import filesTask from 'phaseline/examples/manifests/files-task.yaml?raw'
import type { TextExample } from '../../../pages/create/form-example.ts'

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
    needs: 'Needs the gadget touch-file of examples/webshop/gadgets, which npm start has by itself.',
    text: filesTask,
  },
]
