/** A person at the issuer's pages for devices, without a browser: with the cookies and forms that those pages have. */
export async function decide(verificationUriComplete: string, decision: 'confirm' | 'abort'): Promise<void> {
  const cookies = new Map<string, string>()
  const visit = async (url: URL, form?: Readonly<Record<string, string>>): Promise<string> => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    return location === null ? await response.text() : await visit(new URL(location, url))
  }
  const page = new URL(verificationUriComplete)
  const action = new URL(page.pathname, page)
  const question = await visit(action, fieldsOf(await visit(page)))
  const answer = fieldsOf(question)
  if (answer.confirm === undefined) throw new Error(`the page does not ask whether to go on: ${question}`)
  await visit(action, { ...answer, ...(decision === 'abort' && { abort: 'yes' }) })
}

const fieldsOf = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
