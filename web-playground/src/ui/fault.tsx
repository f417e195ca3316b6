import { Component, type ReactNode } from 'react'
import { Empty } from './states.tsx'

interface Props {
  readonly children: ReactNode
}
interface State {
  readonly error: unknown
}

/**
 * Shown in the place of a page that cannot be drawn, or whose file a newer version has replaced; the rest stays usable.
 */
export class Fault extends Component<Props, State> {
  override state: State = { error: null }
  static getDerivedStateFromError(error: unknown): State {
    return { error: error ?? new Error('unknown') }
  }
  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <Empty title="This page cannot be shown.">
        <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
        <p>The server may be of a newer version by now.</p>
        <button type="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </Empty>
    )
  }
}
