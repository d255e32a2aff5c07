// Words as a shell takes them: commandLine(["npuscope", "report", "my run"]) is "npuscope report 'my run'".
const plain = /^[\w@%+=:,./~-]+$/;

export const commandLine = (words: readonly string[]): string =>
  words.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
