import { type Bound, command } from '../../families/command.ts'
import { createHook, deleteHook, updateHook } from './hooks.ts'
import { replayDelivery } from './replay-delivery.ts'

/** The mutations of hooks and their deliveries. */
export const hookCommands = {
  createHook: command(createHook, ['ConflictError', 'LimitError']),
  updateHook: command(updateHook, ['NotFoundError', 'ConflictError']),
  deleteHook: command(deleteHook, ['NotFoundError']),
  replayDelivery: command(replayDelivery, ['NotFoundError']),
}

declare module '../../graphql/context.ts' {
  interface FamilyServices {
    readonly hooks: Bound<typeof hookCommands>
  }
}
