import type { FamilyCli } from '../../define-family.ts'
import { addApp, addCloudlet, addCluster, shows } from './commands.ts'

export const cli: FamilyCli = { commands: [addCloudlet, addCluster, addApp], shows }
