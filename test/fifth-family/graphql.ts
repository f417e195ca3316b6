import type { ObjectRow } from '../../src/core/tree.ts'
import { WorkObjectRef } from '../../src/graphql/agents/work-object.ts'
import type { FamilyApi } from '../../src/graphql/family.ts'
import { specLoader } from '../../src/graphql/loaders.ts'
import { writeObject } from '../../src/graphql/objects/write-object.ts'
import { builder } from '../../src/graphql/schema/builder.ts'
import { NodeRef, TreeObjectRef } from '../../src/graphql/schema/refs.ts'
import { commandResult } from '../../src/graphql/schema/result-union.ts'
import { type BackupsCommands, backupsCommands, type CreateBackup } from './commands.ts'
import { rights } from './rights.ts'

declare module '../../src/graphql/context.ts' {
  interface FamilyServices {
    readonly backups?: BackupsCommands
  }
}

const BackupRef = builder.objectRef<ObjectRow>('Backup').implement({
  description: 'A copy of a volume, kept until it is deleted.',
  interfaces: [NodeRef, TreeObjectRef, WorkObjectRef],
  fields: (t) => ({
    volume: t.string({
      description: 'Name of the volume that is copied.',
      resolve: async ({ id }, _, context) => {
        const found = await specLoader(context).load(id)
        return (found?.spec as CreateBackup | undefined)?.volume ?? ''
      },
    }),
  }),
})

const commandsOf = ({ backups }: { readonly backups?: BackupsCommands }): BackupsCommands => {
  if (!backups) throw new Error('this server was started without the family')
  return backups
}

builder.mutationField('createBackup', (t) =>
  t.fieldWithInput({
    right: rights.create,
    ...commandResult('CreateBackupResult', BackupRef, backupsCommands.createBackup),
    description: 'Creates a backup; a copier takes it.',
    typeOptions: { description: 'A new backup.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({ required: true, limit: 'name', description: 'Unique among the backups of the project.' }),
      volume: t.input.string({ required: true, limit: 'reference', description: 'Name of the volume that is copied.' }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => commandsOf(context).createBackup(context.viewer, input)),
  }),
)
builder.mutationField('cancelBackup', (t) =>
  t.fieldWithInput({
    right: rights.cancel,
    ...commandResult('CancelBackupResult', BackupRef, backupsCommands.cancelBackup),
    description: 'Stops a backup that has not ended.',
    typeOptions: { description: 'The backup to cancel.' },
    input: { id: t.input.id({ required: true, description: 'Id of the backup.' }) },
    resolve: (_, { input: { id } }, context) =>
      writeObject(context, id, () => commandsOf(context).cancelBackup(context.viewer, id)),
  }),
)
builder.mutationField('deleteBackup', (t) =>
  t.fieldWithInput({
    right: rights.delete,
    ...commandResult('DeleteBackupResult', BackupRef, backupsCommands.deleteBackup),
    description: 'Deletes a backup that has ended.',
    typeOptions: { description: 'The backup to delete.' },
    input: { id: t.input.id({ required: true, description: 'Id of the backup.' }) },
    resolve: (_, { input: { id } }, context) =>
      writeObject(context, id, () => commandsOf(context).deleteBackup(context.viewer, id)),
  }),
)

export const graphql: FamilyApi = {
  blockers: async (_, rows) =>
    rows.map(({ phase }) =>
      phase === 'PENDING'
        ? [{ __typename: 'AgentBlocker', reason: 'AGENT', message: 'A copier has to take it.', ...NO_COPIER }]
        : [],
    ),
  deadlines: async (_, rows) => rows.map(() => []),
  outstanding: async (_, rows) => rows.map(() => false),
  outstandingSql: 'false',
}
const NO_COPIER = { types: ['backup'], connected: false }
