import { readViews, type SavedView, withoutView, withView } from '../model/saved-views.ts'
import { Store } from './store.ts'

/** The saved views of a principal, kept by this browser for all of its tabs. */
export class SavedViews extends Store {
  readonly #key: string

  /** @param signal ends it */
  constructor(principal: string, signal: AbortSignal) {
    super()
    this.#key = `phaseline.views.${principal}`
    // Another tab has written.
    addEventListener('storage', ({ key }) => key === this.#key && this.changed(), { signal })
  }

  get views(): readonly SavedView[] {
    return readViews(localStorage.getItem(this.#key))
  }
  readonly save = (view: SavedView): void => this.#write(withView(this.views, view))
  readonly remove = (href: string): void => this.#write(withoutView(this.views, href))

  #write(views: readonly SavedView[]): void {
    localStorage.setItem(this.#key, JSON.stringify(views))
    this.changed()
  }
}
