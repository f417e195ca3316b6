import { useSyncExternalStore } from 'react'

/** Light or dark as it is shown, for those who draw without a style sheet. */
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(watchShown, shown)

const DARK = '(prefers-color-scheme: dark)'
function shown(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : matchMedia(DARK).matches ? 'dark' : 'light'
}
function watchShown(watcher: () => void): () => void {
  const observer = new MutationObserver(watcher)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  const query = matchMedia(DARK)
  query.addEventListener('change', watcher)
  return () => {
    observer.disconnect()
    query.removeEventListener('change', watcher)
  }
}
