import type { ValueChanges } from '../../data/tree-changes.ts'
import { AFTERWARDS, describeDifference } from '../../model/spec-diff.ts'

/** The differences of two values, by path. */
export function ValuesList({ title, values }: { readonly title: string; readonly values: ValueChanges | null }) {
  if (!values || values.differences.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <ul className="differences">
        {values.differences.map(({ path, change, before, after }) => {
          const difference = {
            path: path.join('.'),
            from: change === 'ADDED' ? undefined : before,
            to: change === 'REMOVED' ? undefined : after,
          }
          return (
            <li key={difference.path}>
              {path.length === 0 ? (
                `All of it is ${before === null ? 'new' : after === null ? 'gone' : 'another'}.`
              ) : (
                <code>{describeDifference(difference, AFTERWARDS)}</code>
              )}
            </li>
          )
        })}
        {values.truncated && <li>… and more</li>}
      </ul>
    </>
  )
}
