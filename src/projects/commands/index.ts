import { type Bound, command } from '../../families/command.ts'
import { createProject } from './create-project.ts'
import { deleteProject } from './delete-project.ts'
import { resealSecrets } from './reseal.ts'
import { deleteSecret, setSecret } from './secrets.ts'
import { updateProject } from './update-project.ts'

/** The mutations of projects and their secrets. */
export const projectCommands = {
  createProject: command(createProject, ['ConflictError']),
  updateProject: command(updateProject, ['NotFoundError', 'ConflictError']),
  deleteProject: command(deleteProject, ['NotFoundError', 'ConflictError']),
  setSecret: command(setSecret, ['NotFoundError', 'LimitError']),
  deleteSecret: command(deleteSecret, ['NotFoundError']),
  resealSecrets: command(resealSecrets, []),
}

declare module '../../graphql/context.ts' {
  interface FamilyServices {
    readonly projects: Bound<typeof projectCommands>
  }
}
