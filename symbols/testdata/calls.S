	.text
	.globl assembled
	.type assembled, @function
assembled:
	sub $8, %rsp
	call puts@plt
	add $8, %rsp
	ret
	.size assembled, .-assembled
unsized:
	nop
	nop
	ret
	.section .note.GNU-stack,"",@progbits
