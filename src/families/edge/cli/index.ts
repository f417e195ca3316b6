import type { FamilyCli } from '../../define-family.ts'
import { addApp, addCloudlet, addCluster } from './commands.ts'

export const cli: FamilyCli = { commands: [addCloudlet, addCluster, addApp] }
