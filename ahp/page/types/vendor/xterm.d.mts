export * from '@xterm/xterm';
