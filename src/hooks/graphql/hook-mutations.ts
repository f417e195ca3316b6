import { RIGHTS } from '../../core/rights.ts'
import { LabelInput } from '../../graphql/objects/label-input.ts'
import { addRecordMutations } from '../../graphql/objects/project-record.ts'
import { builder, type Types } from '../../graphql/schema/builder.ts'
import { IDEMPOTENCY_KEY } from '../../graphql/schema/descriptions.ts'
import { dropUndefined } from '../../graphql/schema/drop-undefined.ts'
import { answer } from '../../graphql/schema/errors.ts'
import { notFoundFailure } from '../../graphql/schema/failures.ts'
import { commandResult } from '../../graphql/schema/result-union.ts'
import { loadDeliveries } from '../../store/hook-deliveries.ts'
import { hookCommands } from '../commands/index.ts'
import { HOOK } from '../commands/parts.ts'
import {
  brandDelivery,
  brandHook,
  HookDeliveryRef,
  HookFormatEnum,
  HookRef,
  SignatureAlgorithmEnum,
  SignatureEncodingEnum,
} from './hook.ts'

const EXPRESSIONS = 'May hold `${…}` over `headers`, with names in lower case, and `body`.'

const SecretInput = builder.inputType('HookSecretInput', {
  description: 'A secret that the sender has, too.',
  fields: (t) => ({
    name: t.string({
      required: true,
      limit: 'name',
      description: 'Unique in the hook: a letter or _, then letters, digits, _ or -.',
    }),
    value: t.string({
      limit: 'hookSecret',
      description:
        'At least 16 characters on one line; with STANDARD_WEBHOOKS base64. It cannot be read again. Left out or null: as it is.',
    }),
  }),
})
const SignatureInput = builder.inputType('HookSignatureInput', {
  description: 'An HMAC of the body in a header, with a secret of the hook as its key.',
  fields: (t) => ({
    header: t.string({ required: true, limit: 'header', description: 'Name of the header.' }),
    algorithm: t.field({ type: SignatureAlgorithmEnum, description: 'Left out or null: SHA256.' }),
    encoding: t.field({ type: SignatureEncodingEnum, description: 'Left out or null: HEX.' }),
    prefix: t.string({
      limit: 'header',
      description: 'Stands before it, such as `sha256=`. Left out or null: nothing.',
    }),
  }),
})
const EventInput = builder.inputType('HookEventInput', {
  description: 'The event of a delivery. The format says all that is left out.',
  fields: (t) => ({
    project: t.string({
      limit: 'eventText',
      description: `Yields the name of the project that gets the event, one of \`projects\`; a delivery that chooses another one is REFUSED. ${EXPRESSIONS} Left out or null: that of the hook.`,
    }),
    source: t.string({
      limit: 'eventText',
      description: `Origin of the event. ${EXPRESSIONS} Left out or null: the repository, the source of the CloudEvent, or the name of the hook.`,
    }),
    type: t.string({
      limit: 'eventText',
      description: `The event at the source. ${EXPRESSIONS} Left out or null: the sender's own, or \`received\`.`,
    }),
    qualifiers: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: `Qualifiers of the event. ${EXPRESSIONS} Left out or null: none.`,
    }),
    labels: t.field({
      type: [LabelInput],
      limit: 'labels',
      description: `Labels of the event. ${EXPRESSIONS} Left out or null: none.`,
    }),
    payload: t.string({
      limit: 'payloadTemplate',
      description: `Text for the worker. ${EXPRESSIONS} Left out or null: the body; a CloudEvent in its JSON form.`,
    }),
  }),
})

const RedeliveryInput = builder.inputType('HookRedeliveryInput', {
  description: 'Has GitHub asked again for deliveries that nobody has answered.',
  fields: (t) => ({
    address: t.string({
      required: true,
      limit: 'repository',
      description:
        'Address of the webhook in the API of GitHub, e.g. https://api.github.com/repos/acme/shop/hooks/1. A private network is refused, unless a setting names it.',
    }),
    token: t.string({
      limit: 'hookSecret',
      description:
        'Token that may read and write webhooks of the repository. It cannot be read again. Left out or null: as it is.',
    }),
  }),
})

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>
const specFields = (t: InputBuilder) => ({
  format: t.field({ type: HookFormatEnum, required: true, description: 'The form in which the sender posts.' }),
  description: t.string({ limit: 'description', description: 'A sentence for people. Left out or null: none.' }),
  disabled: t.boolean({ description: 'True: it creates no events. Left out or null: false.' }),
  filter: t.string({
    limit: 'eventText',
    description:
      'Expression over `headers` and `body`, without `${…}`: only deliveries for which it is true become events. Left out or null: all do.',
  }),
  projects: t.stringList({
    limit: 'chosenProjects',
    description:
      'Names of the projects that `event.project` may choose from. Only administrators may set and see it. Left out, null or empty: events are of the own project.',
  }),
  event: t.field({ type: EventInput, description: 'The event. Left out or null: the format says all of it.' }),
  deliveryId: t.string({
    limit: 'eventText',
    description: `Names a delivery, so that repetitions are noticed; only with GENERIC. ${EXPRESSIONS} Left out or null: nothing does.`,
  }),
  signature: t.field({
    type: SignatureInput,
    description:
      'How the sender signs; only with GENERIC and CLOUDEVENTS. Left out or null: it sends a secret as bearer token.',
  }),
  redelivery: t.field({
    type: RedeliveryInput,
    description: 'Only with GITHUB, which repeats nothing by itself. Left out or null: it is not asked again.',
  }),
})
addRecordMutations(HOOK, {
  ...{ ref: HookRef, brand: brandHook },
  project: 'Name of its project, which gets the events; it must have a worker template by then.',
  create: {
    command: hookCommands.createHook,
    description:
      'Creates a hook. Its events have the rights of the caller, and no more. Refused if the name is taken (ALREADY_EXISTS), and beyond 100 hooks in a project (LIMIT).',
    fields: (t) => ({
      secrets: t.field({
        type: [SecretInput],
        required: true,
        limit: 'hookSecrets',
        description: 'At least one, each with its value.',
      }),
      ...specFields(t),
      idempotencyKey: t.string(IDEMPOTENCY_KEY),
    }),
    run: ({ hooks }) => hooks.createHook,
  },
  update: {
    command: hookCommands.updateHook,
    description:
      'Replaces all of a hook but its name and its secrets. From then on its events have the rights of the caller. To replace a secret, give the old one by its name beside the new one, and leave it out once the sender has the new one.',
    fields: (t) => ({
      secrets: t.field({
        type: [SecretInput],
        limit: 'hookSecrets',
        description: 'All that it is to have; those without a value stay as they are. Left out or null: as they are.',
      }),
      ...specFields(t),
    }),
    run: ({ hooks }) => hooks.updateHook,
  },
  delete: {
    command: hookCommands.deleteHook,
    description: 'Deletes a hook with its secrets and its deliveries. Its events stay.',
    run: ({ hooks }) => hooks.deleteHook,
  },
})
builder.mutationField('replayDelivery', (t) =>
  t.fieldWithInput({
    right: RIGHTS.replayDelivery,
    ...commandResult('ReplayDeliveryResult', HookDeliveryRef, hookCommands.replayDelivery),
    description:
      'Judges what a delivery has brought once more, by the hook as it is now, and returns the new delivery with its outcome. It creates an event also if there was one before, or the hook is disabled. Refused once its body is not kept any more.',
    typeOptions: { description: 'The delivery to play again.' },
    input: {
      id: t.input.id({ required: true, description: 'Id of the delivery.' }),
      idempotencyKey: t.input.string(IDEMPOTENCY_KEY),
    },
    resolve: (_, { input }, context) =>
      answer(context.hooks.replayDelivery(context.viewer, dropUndefined(input)), async ({ deliveryId }) => {
        const [row] = await loadDeliveries(context.pool, [deliveryId], null)
        if (!row) throw notFoundFailure(deliveryId)
        return brandDelivery(row)
      }),
  }),
)
