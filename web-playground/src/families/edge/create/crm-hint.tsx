import { ScrollingText } from '../../../ui/scrolling-text.tsx'
/** Says that a cloudlet needs a CRM. */
export function CrmHint({ name }: { readonly name: string }) {
  return (
    <details className="hint">
      <summary>How its CRM connects</summary>
      <p>
        A cloudlet is OFFLINE until its CRM connects; then it is READY, and clusters can be created on it. To try it
        with a simulated CRM, whose clusters are folders: have a token made with the role AGENT, the actor CRM and the
        type <code>crm</code> (createToken), and start in a checkout
      </p>
      <ScrollingText>
        PHASELINE_TOKEN=… node src/agents/main.ts --types crm --cloudlet {name} --state ./{name} --url{' '}
        {new URL('/graphql', location.href).href}
      </ScrollingText>
    </details>
  )
}
