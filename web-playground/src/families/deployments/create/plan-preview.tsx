import { type CSSProperties, useState } from 'react'
import { humanKind } from '../../../model/known.ts'
import { plural } from '../../../model/words.ts'
import { actionOf, type Plan, type PlanBlocker, type PlannedCode, type PlanStep, summaryOf } from '../model/plan.ts'

const PAGE = 100

/** The steps of the plan, in the order in which they would begin. */
export function PlanPreview({ plan, stale }: { readonly plan: Plan; readonly stale: boolean }) {
  const [room, setRoom] = useState(PAGE)
  const { steps, blockers } = plan
  const forbidden = plan.broughtCode.filter(({ permitted }) => !permitted)
  return (
    <div className="plan" aria-busy={stale}>
      <p role="status">{stale ? 'Looking again…' : summaryOf(plan)}</p>
      {forbidden.length > 0 && <Forbidden code={forbidden} />}
      {blockers.length > 0 && <Blockers blockers={blockers} />}
      {steps.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section className="plan-steps" tabIndex={0} aria-label="Steps of the plan">
          <ol>
            {steps.slice(0, room).map((step) => (
              <Step key={step.order} step={step} />
            ))}
          </ol>
          {steps.length > room && (
            <button type="button" onClick={() => setRoom(room + 10 * PAGE)}>
              Show {plural(Math.min(steps.length - room, 10 * PAGE), 'more step')}
            </button>
          )}
        </section>
      )}
    </div>
  )
}

/** Blockers that would keep the plan from ending, shown before anything is created. */
function Blockers({ blockers }: { readonly blockers: readonly PlanBlocker[] }) {
  return (
    <section className="notice" aria-label="What it would wait for">
      <ul className="things">
        {blockers.map(({ reason, message, path, objectCount }) => (
          <li key={`${reason} ${message}`}>
            <b className="reason">{reason}</b> {path.join('/')}: {message}
            {objectCount > 1 && <span className="quiet"> – and {plural(objectCount - 1, 'object')} more</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Items that the viewer may not write. */
function Forbidden({ code }: { readonly code: readonly PlannedCode[] }) {
  return (
    <section className="notice" aria-label="What takes the role AUTHOR">
      <ul className="things">
        {code.slice(0, PAGE).map(({ path, message }) => (
          <li key={path.join('/')}>
            <b className="reason">AUTHOR</b> {path.join('/')}: {message} You may not write it.
          </li>
        ))}
      </ul>
    </section>
  )
}

function Step({ step: { order, action, kind, path, reason } }: { readonly step: PlanStep }) {
  const { symbol, word, look } = actionOf(action)
  return (
    <li data-step={`${action} ${path.join('/')}`}>
      <span className="quiet step-order">{order}</span>
      <span className={`phase is-${look.toLowerCase()}`}>
        <span aria-hidden="true">{symbol}</span> {word}
      </span>
      <span className="step-what" title={path.join(' / ')} style={indent(path.length - 1)}>
        {path.at(-1)} <span className="quiet">{humanKind(kind)}</span>
        {action !== 'CREATE' && <span className="quiet step-why">{reason}</span>}
      </span>
    </li>
  )
}

const indent = (deep: number): CSSProperties => ({ '--deep': Math.min(deep, 12) }) as CSSProperties
