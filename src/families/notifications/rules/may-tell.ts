import { type Grant, hasRight, inAllProjects, type Right } from '../../../core/rights.ts'
import { rights } from '../rights.ts'
import type { RuleSpec } from './spec.ts'

/** The right that a rule needs beyond its project, or in it. */
export const rightOf = ({ changes }: Pick<RuleSpec, 'changes'>): Right =>
  changes.projects ? inAllProjects(rights.create) : rights.create

/** A rule tells what its last editor may read. @param grants those of the editor in the rule's project, as they are now */
export const mayTell = (
  { spec, editor }: { readonly spec: Pick<RuleSpec, 'changes'>; readonly editor: { readonly name: string } },
  grants: readonly Grant[],
): boolean => hasRight({ name: editor.name, actor: 'USER', grants }, rightOf(spec))
