import { isItemType } from './deployers/item-types.ts'
import { type LabelInput, labelsOf } from './labels.ts'
import { hasLabels, type Labels } from './place.ts'
import type { Problems } from './problems.ts'

/** Targets as data: where deploy items go. */

/** The facts of a target that selectors judge. */
export interface TargetFacts {
  readonly name: string
  readonly type: string
  readonly labels: Labels
}

/** Chooses among the targets of a project. */
export interface TargetSelector {
  /** Null: of any type. */
  readonly type: string | null
  /** Labels that a target must have, and may have more. */
  readonly labels: Labels
}

/** The targets for which an agent claims besides those that it names. */
export interface ServedTargets extends TargetSelector {
  /** Names that its token allows; null: all. */
  readonly within: readonly string[] | null
}

export const isSelected = (target: Omit<TargetFacts, 'name'>, { type, labels }: TargetSelector): boolean =>
  (type === null || target.type === type) && hasLabels(target.labels, labels)

export interface TargetSelectorInput {
  readonly type?: string | null | undefined
  readonly labels?: readonly LabelInput[] | null | undefined
}

/** A selector without a type and without labels would select whatever there is, and is refused. */
export function readSelector({ type, labels }: TargetSelectorInput, path: string, problems: Problems): TargetSelector {
  const selector = { type: type ?? null, labels: labelsOf(labels ?? [], problems, `${path}.labels`) }
  if (selector.type === null && !labels?.length) problems.add(path, 'must have a type, or labels')
  return selector
}

/** A target whose credentials are a kubeconfig. */
export const KUBERNETES_TARGET = 'kubernetes'

/** Also names files of `--kubeconfigs`. */
export const isTargetName = (name: string): boolean => isItemType(name) && !name.includes('/')
export const TARGET_NAME_RULE = 'must be a plain word of letters, digits, . _ or -, and have at most 128 characters'
