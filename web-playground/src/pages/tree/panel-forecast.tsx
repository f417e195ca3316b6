import { Link } from 'wouter'
import type { Details } from '../../data/details-store.ts'
import { forecastsOf } from '../../data/forecasts.ts'
import { Expected } from '../../ui/expected.tsx'
import { useLive } from '../../ui/session-context.ts'
import { useObjectHref } from './use-object-href.ts'

/** When an object is expected to end, and what determines it. */
export function PanelForecast({ details: { id, root, finished } }: { readonly details: Details }) {
  const store = useLive(`${id} ${finished}`, (session, signal) => forecastsOf(session, finished ? [] : [id], signal))
  const href = useObjectHref()
  const forecast = store?.answer?.get(id)
  if (!forecast) return null
  return (
    <section aria-label="Expected end">
      <h3>Expected</h3>
      <p>
        <Expected forecast={forecast} />
      </p>
      <ul>
        {forecast.criticalPath.map((one) => (
          <li key={one.id}>
            <Link href={href(root.id, one.id)}>{one.path}</Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
