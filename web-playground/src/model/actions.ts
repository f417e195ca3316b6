/** What a viewer can do to an object: a button, and the mutation behind it. */
export interface Action {
  readonly name: string
  readonly label: string
  /** Asked before it is done; null where it is harmless. `{name}` is the object's. */
  readonly confirm: string | null
  readonly danger: boolean
  readonly field: string
  readonly input: string
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Actable {
  readonly id: string
  readonly kind: string
  readonly phase: string
  readonly finished: boolean
  readonly parent: { readonly id: string } | null
  readonly deletionRequestedAt: string | null
  readonly allowedTransitions: readonly { readonly machine: string; readonly to: string }[]
}

const NOUNS: Readonly<Record<string, string>> = {
  INSTALLATION: 'Installation',
  EVENT: 'Event',
  JOB: 'Job',
  TASK: 'Task',
  CLOUDLET: 'Cloudlet',
  CLUSTER_INST: 'ClusterInst',
  APP_INST: 'AppInst',
}

export function actionsFor(object: Actable): readonly Action[] {
  const { kind } = object
  if (kind === 'INSTALLATION') return ofInstallation(object)
  if (kind === 'EVENT') return [...cancelIf(object, ['CANCELED', 'ABORTED']), ...ofEvent(object), ...deleteIf(object)]
  if (kind === 'JOB') return cancelIf(object, ['CANCELED', 'ABORTED'])
  if (kind === 'TASK') return [...cancelIf(object, ['ABORTING', 'ABORTED']), ...deleteIf(object)]
  if (kind === 'GADGET_JOB') return ofUndo(object)
  if (kind === 'CLOUDLET') return [...ofUpgrade(object), ...deleteIf(object)]
  if (kind === 'CLUSTER_INST' || kind === 'APP_INST') return ofInstance(object)
  return []
}

const can = ({ allowedTransitions }: Actable, ...to: readonly string[]): boolean =>
  allowedTransitions.some((transition) => to.includes(transition.to))

const action = (
  { id, kind }: Actable,
  verb: string,
  rest: Pick<Action, 'label' | 'confirm'> & Partial<Pick<Action, 'danger' | 'variables' | 'name'>>,
): Action => {
  const field = `${verb}${NOUNS[kind] ?? ''}`
  const input = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
  const { variables, ...shown } = rest
  return { name: verb, danger: false, ...shown, field, input, variables: { id, ...variables } }
}

const cancel = (object: Actable): Action =>
  action(object, 'cancel', {
    label: 'Cancel',
    confirm: 'Cancel {name}: nothing new starts, and what is running below it is stopped.',
  })
/** These refuse to go while something is below them, unless they are asked to take it along. */
const CASCADES = ['CLOUDLET', 'CLUSTER_INST']
const remove = (object: Actable): Action =>
  action(object, 'delete', {
    ...(CASCADES.includes(object.kind) ? { variables: { cascade: true } } : {}),
    label: 'Delete',
    confirm: `Delete {name} and everything below it${object.kind === 'INSTALLATION' ? ', in reverse order of its creation' : ''}. This cannot be undone.`,
    danger: true,
  })

const cancelIf = (object: Actable, to: readonly string[]): readonly Action[] =>
  !object.finished && can(object, ...to) ? [cancel(object)] : []
const deleteIf = (object: Actable): readonly Action[] => (can(object, 'GONE') ? [remove(object)] : [])

/** Its phases are the controller's alone: what a user may ask for follows from how it stands. */
function ofInstallation(object: Actable): readonly Action[] {
  if (object.parent) return []
  const deleting = object.deletionRequestedAt !== null
  const reconcile = action(object, 'reconcile', { label: 'Reconcile', confirm: null })
  return [
    ...(deleting ? [] : [reconcile]),
    ...(object.finished ? [] : [cancel(object)]),
    ...(deleting && !object.finished ? [] : [remove(object)]),
  ]
}

function ofEvent(object: Actable): readonly Action[] {
  const clone = action(object, 'clone', { label: 'Run again as new', confirm: null })
  return object.finished ? [action(object, 'retry', { label: 'Retry', confirm: null }), clone] : [clone]
}

function ofUndo(object: Actable): readonly Action[] {
  if (!can(object, 'UNDOING')) return []
  const resolve = { ...action(object, 'resolveUndo', { label: 'Undo again', confirm: null }) }
  return [
    { ...resolve, name: 'retryUndo', variables: { id: object.id, decision: 'RETRY' } },
    {
      ...resolve,
      name: 'giveUpUndo',
      label: 'Give up',
      danger: true,
      confirm: 'Leave {name} as it is: its locks are released, and nothing is undone any more.',
      variables: { id: object.id, decision: 'GIVE_UP' },
    },
  ]
}

function ofUpgrade(object: Actable): readonly Action[] {
  const failed = object.allowedTransitions.some(({ machine, to }) => machine === 'cloudletUpgrade' && to === 'READY')
  if (!failed) return []
  const confirm = 'Say that the failed upgrade of {name} was put right by hand.'
  return [
    {
      ...action(object, 'resolve', { label: 'Upgrade is put right', confirm }),
      field: 'resolveCloudletUpgrade',
      input: 'ResolveCloudletUpgradeInput',
    },
  ]
}

function ofInstance(object: Actable): readonly Action[] {
  const requested = object.phase.endsWith('_REQUESTED') || object.phase === 'DELETE_PREPARE'
  return [
    ...(requested ? [cancel(object)] : []),
    ...(can(object, 'DELETE_PREPARE', 'DELETE_REQUESTED', 'GONE') ? [remove(object)] : []),
  ]
}
