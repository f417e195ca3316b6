import { useEffect, useSyncExternalStore } from 'react'
import { useScope } from './scoped-router.tsx'

const watchers = new Set<() => void>()
const watch = (watcher: () => void): (() => void) => {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/**
 * The tab's title while the component is shown: the page, its project and the product.
 * @param own the project of what is shown, where it is that of one thing
 */
export function useTitle(title: string, own?: string): void {
  const scope = useScope().project
  const project = own ?? scope
  useEffect(() => {
    document.title = [title, ...(project ? [project] : []), 'Phaseline'].join(' · ')
    for (const each of watchers) each()
  }, [title, project])
}

/** The title of the tab. */
export const useShownTitle = (): string => useSyncExternalStore(watch, () => document.title)
