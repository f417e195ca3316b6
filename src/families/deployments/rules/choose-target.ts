import { isSelected, type TargetFacts, type TargetSelector } from '../../../core/target.ts'
import type { WantedTarget } from './spec.ts'

/** Chooses the target of an item: the one that its spec names, or the only one of its project that a selector selects. Pure. */

export type ChosenTarget =
  | { readonly ok: true; readonly target: string | null }
  | { readonly ok: false; readonly message: string }

/** Null: the spec has none. */
export const wantedSelector = ({ targetSelector }: WantedTarget): TargetSelector | null =>
  targetSelector
    ? {
        type: targetSelector.type,
        labels: Object.fromEntries(targetSelector.labels.map(({ key, value }) => [key, value])),
      }
    : null

export function chooseTarget(wanted: WantedTarget, targets: readonly TargetFacts[]): ChosenTarget {
  const selector = wantedSelector(wanted)
  if (!selector) return { ok: true, target: wanted.target ?? null }
  const found = targets.filter((one) => isSelected(one, selector))
  const [first] = found
  if (first && found.length === 1) return { ok: true, target: first.name }
  if (first)
    return {
      ok: false,
      message: `Several targets of the project have ${describe(selector)}: ${listed(found.map(({ name }) => name))}.`,
    }
  const others = targets.filter(({ type }) => selector.type === null || type === selector.type)
  const known = others.map((one) => `${one.name} (${describe(one)})`)
  const there = known.length > 0 ? ` Others are ${listed(known)}.` : ''
  return { ok: false, message: `No target of the project has ${describe(selector)}.${there}` }
}

const MOST = 10
const listed = (texts: readonly string[]): string =>
  [...texts.slice(0, MOST), ...(texts.length > MOST ? [`${texts.length - MOST} more`] : [])].join(', ')

/** Such as `type kubernetes, region=eu`. */
const describe = ({ type, labels }: TargetSelector): string =>
  [...(type === null ? [] : [`type ${type}`]), ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)].join(
    ', ',
  )
