import { forecastText, type ShownForecast } from 'phaseline/client-model'
import { duration } from '../model/words.ts'
import { useNow } from './now.ts'

/** How long it is expected to take from now, counting down; silent like `Since`. */
export function Expected({ forecast }: { readonly forecast: ShownForecast }) {
  const now = useNow()
  return (
    <span className="quiet" title={`From ${forecast.runs} earlier runs`} aria-live="off">
      {forecastText(forecast, now, duration)}
    </span>
  )
}
