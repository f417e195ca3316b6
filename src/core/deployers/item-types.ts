import { CONTAINER } from './container.ts'
import { GATE } from './gate.ts'
import { HELM } from './helm.ts'
import { KUBERNETES_MANIFEST } from './kubernetes-manifest.ts'

/** A deploy item, or an app, makes something run, which depends on its type: whoever writes one that brings code is an author. */

/** The farthest reach of code that an item brings, from nothing to the machine of its deployer. */
export const CODE_LEVELS = ['NONE', 'IMAGE', 'CLUSTER', 'COMMAND'] as const
export type CodeLevel = (typeof CODE_LEVELS)[number]

export const LEVEL_WORDS = {
  NONE: 'nothing that runs',
  IMAGE: 'an image, and a command in it, that an engine of containers, or a cluster, runs',
  CLUSTER: 'objects of a cluster, with all that runs in them',
  COMMAND: 'a command on the machine of its deployer',
} as const satisfies Readonly<Record<CodeLevel, string>>

/** A kind of its own, which a CRM runs as a deployer does its items. */
export const APP_INST = 'APP_INST'

/** The types of the package. A map: a type may be called `constructor`. */
export const ITEM_TYPES: ReadonlyMap<string, CodeLevel> = new Map([
  ['mock', 'NONE'],
  [GATE, 'NONE'],
  [CONTAINER, 'IMAGE'],
  [KUBERNETES_MANIFEST, 'CLUSTER'],
  [HELM, 'CLUSTER'],
  ['gadget', 'COMMAND'],
  [APP_INST, 'IMAGE'],
])

/** Nobody has declared what a deployer of another type does with a config: it counts as the most that there is. */
export const codeLevelOf = (type: string): CodeLevel => ITEM_TYPES.get(type) ?? 'COMMAND'

/** A sentence, without its full stop, that says what an item of the type brings. */
export const describeCode = (type: string): string =>
  `An item of the type ${type} ${ITEM_TYPES.has(type) ? 'brings' : 'may bring'} ${LEVEL_WORDS[codeLevelOf(type)]}`

const TYPE = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/
export const isItemType = (text: string): boolean => TYPE.test(text)
export const ITEM_TYPE_RULE = 'must be a plain word of letters, digits, . _ / or -'

/** Types whose items an EDITOR may write whatever they bring; `*`: all. */
export type EditorTypes = ReadonlySet<string>
export const ALL_TYPES = '*'
export const isForEditors = (type: string, editorTypes: EditorTypes): boolean =>
  codeLevelOf(type) === 'NONE' || editorTypes.has(type) || editorTypes.has(ALL_TYPES)
