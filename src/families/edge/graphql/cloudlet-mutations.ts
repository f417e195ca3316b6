import { LabelInput } from '../../../graphql/objects/label-input.ts'
import { writeObject } from '../../../graphql/objects/write-object.ts'
import { builder } from '../../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../../graphql/schema/drop-undefined.ts'
import { commandResult } from '../../../graphql/schema/result-union.ts'
import { edgeCommands } from '../commands/index.ts'
import { rights } from '../rights.ts'
import { CloudletRef } from './cloudlet.ts'

export const NAME = 'A letter or _, then letters, digits, _ or -.'
export const LABELS = 'Each key stands once. Left out or null: none.'

builder.mutationField('createCloudlet', (t) =>
  t.fieldWithInput({
    right: rights.createCloudlet,
    ...commandResult('CreateCloudletResult', CloudletRef, edgeCommands.createCloudlet),
    description:
      'Creates a cloudlet, which waits in INIT for its CRM (connectCrm) and is OFFLINE if none connects in time (PHASELINE_CRM_SILENCE_MS). A name that exists is refused (ALREADY_EXISTS).',
    typeOptions: { description: 'Name and labels of a new cloudlet.' },
    input: {
      project: t.input.string({
        required: true,
        defaultValue: 'default',
        limit: 'reference',
        description: 'Name of its project.',
      }),
      name: t.input.string({
        required: true,
        limit: 'name',
        description: `${NAME} Unique among the cloudlets of the project.`,
      }),
      labels: t.input.field({ type: [LabelInput], limit: 'labels', description: LABELS }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, null, () => context.edge.createCloudlet(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('deleteCloudlet', (t) =>
  t.fieldWithInput({
    right: rights.deleteCloudlet,
    ...commandResult('DeleteCloudletResult', CloudletRef, edgeCommands.deleteCloudlet),
    description:
      'Deletes the record of a cloudlet, and returns it as it was. Refused unless it is OFFLINE (TransitionError), and while it has instances without cascade (IN_USE).',
    typeOptions: { description: 'The cloudlet to delete.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the cloudlet.' }),
      cascade: t.input.boolean({
        required: true,
        defaultValue: false,
        description:
          'True if the records of its instances are deleted too. The instances themselves stay, since no CRM is connected to remove them.',
      }),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.edge.deleteCloudlet(context.viewer, input)),
  }),
)
builder.mutationField('upgradeCloudlet', (t) =>
  t.fieldWithInput({
    right: rights.upgradeCloudlet,
    ...commandResult('UpgradeCloudletResult', CloudletRef, edgeCommands.upgradeCloudlet),
    description:
      'Asks the CRM of a cloudlet to bring up a CRM of the given version, which takes over; until then no instance can be changed. Refused while another upgrade runs or has failed, and unless the cloudlet (NOT_READY) and all its instances (BUSY) are READY.',
    typeOptions: { description: 'The cloudlet to upgrade, and to which version.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the cloudlet.' }),
      version: t.input.string({
        required: true,
        limit: 'version',
        description: 'Version that its CRM is to bring up, ASCII characters without spaces, at least one.',
      }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.edge.upgradeCloudlet(context.viewer, dropUndefined(input))),
  }),
)
builder.mutationField('resolveCloudletUpgrade', (t) =>
  t.fieldWithInput({
    right: rights.resolveUpgrade,
    ...commandResult('ResolveCloudletUpgradeResult', CloudletRef, edgeCommands.resolveCloudletUpgrade),
    description:
      'Says that a failed upgrade was put right by hand: the upgrade phase is READY again, and instances can be changed. Refused unless the upgrade phase is UPDATE_ERROR (TransitionError).',
    typeOptions: { description: 'The cloudlet whose failed upgrade was put right.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the cloudlet.' }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      writeObject(context, input.id, () => context.edge.resolveCloudletUpgrade(context.viewer, dropUndefined(input))),
  }),
)
