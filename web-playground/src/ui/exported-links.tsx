import { exportedLinks } from '../model/exported-links.ts'

/** They lead to other sites, which do not learn where from. */
export function ExportedLinks({ exports }: { readonly exports: unknown }) {
  const links = exportedLinks(exports)
  if (links.length === 0) return null
  return (
    <span className="exported">
      {links.map(({ name, href }) => (
        <a key={name} href={href} target="_blank" rel="noreferrer" title={href}>
          {name} <span aria-hidden="true">↗</span>
        </a>
      ))}
    </span>
  )
}
